// Texts of streams, with a limit.

/** Reads a text in UTF-8. Cancels the stream and returns `undefined` if the text has more than `maximum` characters. */
export async function boundedText(
  stream: ReadableStream<Uint8Array> | null,
  maximum: number,
): Promise<string | undefined> {
  const reader = stream?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    text += decoder.decode(value, { stream: !done });
    if (text.length > maximum)
      return void (await reader?.cancel().catch(() => {}));
    if (done) return text;
  }
}
