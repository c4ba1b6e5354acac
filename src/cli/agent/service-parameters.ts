import { usage } from '../command.ts';

export type ServiceParameter = readonly [name: string, value: string];

/** Headers that the command sets itself. */
const OWN: Readonly<Record<string, string>> = {
  'a2a-version': 'choose the version with --a2a-version',
  'a2a-extensions': 'declare an extension with --extension',
  'content-length': 'it follows from the message',
  'content-type': 'it follows from the transport',
  host: 'name another address with --agent-card',
};

/** Reads `--svc-param NAME:VALUE` (or `NAME=VALUE`). They are sent as headers, never in a query. */
export function readServiceParameters(given: readonly string[]): readonly ServiceParameter[] {
  return given.map((text) => {
    const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*[:=]\s*(.*)$/.exec(text);
    const [, name = '', value = ''] = match ?? [];
    // The error never shows the text: it may be a secret.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header can't hold them
    if (match === null || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      throw usage('--svc-param: a value is not NAME:VALUE', "example: --svc-param 'X-Region: eu-west'");
    }
    const own = OWN[name.toLowerCase()];
    if (own !== undefined) throw usage(`--svc-param can't set ${name}`, own);
    return [name, value];
  });
}
