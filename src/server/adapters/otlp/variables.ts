/** OtelEnvironment variables by name. */
export type OtelEnvironment = Readonly<Record<string, string | undefined>>;

/** A variable that is set. */
export interface OtelVariable {
  readonly name: string;
  readonly value: string;
}

/** The first of these variables that is set and not empty. */
export function variableIn(env: OtelEnvironment, ...names: readonly string[]): OtelVariable | undefined {
  for (const name of names) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return { name, value };
  }
  return undefined;
}

/** Timers can't measure more. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A number of milliseconds. A wrong one is a problem, and the default is used. */
export function msIn(variable: OtelVariable | undefined, otherwise: number, problems: string[]): number {
  if (variable === undefined) return otherwise;
  const ms = Number(variable.value);
  if (Number.isFinite(ms) && ms > 0 && ms <= TIMER_MS_MAX) return ms;
  problems.push(`${variable.name}=${variable.value} is no number of milliseconds: ${otherwise} is used`);
  return otherwise;
}

/** `true` or `false`, in any case. Anything else is a problem, and means false, as the specification says. */
export function flagIn(variable: OtelVariable | undefined, problems: string[]): boolean {
  const word = variable?.value.toLowerCase() ?? 'false';
  if (word !== 'true' && word !== 'false') problems.push(`${variable?.name}=${variable?.value} is neither true nor false: false is used`);
  return word === 'true';
}

/** `a=1,b=2`, with percent-encoded values. An entry without a name and `=` is a problem, and is left out. Values may be secret: they are not shown. */
export function pairsIn(variable: OtelVariable | undefined, problems: string[]): Readonly<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const [at, entry] of (variable?.value ?? '').split(',').entries()) {
    if (entry.trim() === '') continue;
    const mark = entry.indexOf('=');
    const name = entry.slice(0, Math.max(0, mark)).trim();
    if (name !== '') pairs.push([name, decoded(entry.slice(mark + 1).trim())]);
    else problems.push(`entry ${at + 1} of ${variable?.name} is not of the form name=value: it is left out`);
  }
  return Object.fromEntries(pairs);
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The same for headers. One that HTTP does not allow would make every request fail. */
export function headersIn(variable: OtelVariable | undefined, problems: string[]): Readonly<Record<string, string>> {
  const headers = Object.entries(pairsIn(variable, problems)).filter(([name, value], at) => {
    const isAllowed = HEADER_NAME.test(name) && HEADER_VALUE.test(value);
    if (!isAllowed) problems.push(`header ${at + 1} of ${variable?.name} is not allowed in HTTP: it is left out`);
    return isAllowed;
  });
  return Object.fromEntries(headers);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
