export const JSON_TYPE = 'application/json';

/**
 * Whether a `Content-Type` header has one of these media types. JSON is UTF-8, so another charset does
 * not match. The type must be equal, not merely contained: a web page may send `text/plain;
 * x=application/json` to another origin without a preflight request.
 */
export function isMediaType(header: string | null | undefined, types: readonly string[]): boolean {
  if (typeof header === 'string' && types.includes(header)) return true; // most clients send the type alone
  const [type, ...parameters] = (header ?? '').toLowerCase().split(';');
  if (!types.includes((type ?? '').trim())) return false;
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=');
    return (name ?? '').trim() !== 'charset' || /^\s*"?utf-8"?\s*$/.test(value ?? '');
  });
}

/** Whether `Accept` names a media type, itself or by a wildcard, with a weight above 0. */
export function accepts(accept: string, type: string): boolean {
  const [main] = type.split('/', 1);
  return accept
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [name, ...parameters] = range.split(';').map((part) => part.trim());
      const isNamed = name === type || name === `${main}/*` || name === '*/*';
      return isNamed && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    });
}

/**
 * The type that `Accept` ranks highest. The first one if `Accept` is absent, ranks them equal or names
 * none of them.
 */
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
