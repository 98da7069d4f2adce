// Questions to the server of this page. Only the latest of its kind counts: an older one is given up.

const pending = new Map();

export class Refusal extends Error {}

/** The answer to a question; null if a later one has taken its place. */
export async function ask(path, question = {}) {
  pending.get(path)?.abort();
  const giveUp = new AbortController();
  pending.set(path, giveUp);
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal: giveUp.signal,
    });
    const answer = await response.json();
    if (!response.ok) throw new Refusal(answer.error);
    return answer;
  } catch (error) {
    if (error.name === "AbortError") return null;
    if (error instanceof Refusal) throw error;
    throw new Refusal("no answer: is podstrat play still running?");
  } finally {
    if (pending.get(path) === giveUp) pending.delete(path);
  }
}
