/** Data of a message in words, for a title: `season: spring, year: 2026`. */
export function plainData(data: unknown): string {
  if (typeof data !== 'object' || data === null) return String(data);
  if (Array.isArray(data)) return data.map(plainData).join(', ');
  return Object.entries(data)
    .map(([name, value]) => `${name}: ${typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

/** The first words of a message. Those of a form are JSON, and are written in words. */
export function plainWords(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return plainData(JSON.parse(text));
  } catch {
    return text; // it only looks like JSON, or its end was cut off
  }
}

/** Markdown on one line shows its marks. Those of code are the ones that questions have. */
export function withoutCode(text: string): string {
  return text.replaceAll(/`([^`\n]+)`/g, '$1');
}
