/**
 * Text that was percent-encoded as UTF-8, as gRPC sends the message of a status. Never throws: what is no escape stays as it is, and bytes
 * that are not UTF-8 become U+FFFD.
 */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[\dA-Fa-f]{2})+/g, (escapes) => {
    const bytes = Uint8Array.from(escapes.slice(1).split('%'), (digits) => Number.parseInt(digits, 16));
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  });
}
