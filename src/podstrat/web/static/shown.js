// What of an input may be seen: characters that hide or reorder text stand as escapes, as `podstrat check` writes them in JSON.

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escape = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text in which every unsafe character stands as its escape. */
export const shown = (text) => String(text).replace(UNSAFE, escape);

/** The lines of a text that have such characters: their numbers, and how they are shown. */
export function hidden(text) {
  return text.split("\n").flatMap((line, index) => {
    const seen = shown(line.replace(/\r$/, ""));
    return seen === line.replace(/\r$/, "") ? [] : [{ line: index + 1, text: seen }];
  });
}
