/** The code of an error of Node.js, for example `ENOENT`. Undefined if it has none. */
export function codeOfError(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
