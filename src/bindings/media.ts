export const JSON_TYPE = 'application/json';

/**
 * Whether a header names one of these media types. JSON is UTF-8, so another charset is another type. Whole types are
 * compared: `text/plain; x=application/json` is what a web page can send to another origin unasked.
 */
export function isMediaType(header: string | null | undefined, types: readonly string[]): boolean {
  const [type, ...parameters] = (header ?? '').toLowerCase().split(';');
  if (!types.includes((type ?? '').trim())) return false;
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=');
    return (name ?? '').trim() !== 'charset' || /^\s*"?utf-8"?\s*$/.test(value ?? '');
  });
}

/** The type that `Accept` ranks highest of those; the first where it does not care, or names none of them. */
export function preferredType(accept: string | undefined, types: readonly [string, ...string[]]): string {
  let best: { type: string; weight: number } = { type: types[0], weight: 0 };
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    if (name !== undefined && types.includes(name) && weight > best.weight) best = { type: name, weight };
  }
  return best.type;
}
