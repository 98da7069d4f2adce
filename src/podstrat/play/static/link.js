// A link that carries the text and the choices behind the #, which no browser sends to a server.

const LARGEST = 512 * 1024;

async function through(stream, bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LARGEST) throw new Error("the text in the link is too long"); // a link can be made to unpack to anything
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function toText(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const fromText = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** The address of this page with a value in it. */
export async function linkTo(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  return `${location.origin}/#${toText(bytes)}`;
}

/** The value in the address of this page; null if there is none that can be read. */
export async function linked() {
  const said = location.hash.slice(1);
  if (!said || said === "text") return null;
  try {
    return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), fromText(said))));
  } catch {
    return null;
  }
}
