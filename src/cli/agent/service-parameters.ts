import { usage } from '../command.ts';

export type ServiceParameter = readonly [name: string, value: string];

/** Reads `--svc-param NAME:VALUE` (or `NAME=VALUE`). They are sent as headers, never in a query. */
export function readServiceParameters(given: readonly string[]): readonly ServiceParameter[] {
  return given.map((text) => {
    const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*[:=]\s*(.*)$/.exec(text);
    const [, name = '', value = ''] = match ?? [];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header can't hold them
    if (match === null || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      throw usage(`--svc-param: ${text.slice(0, 40)} is not NAME:VALUE`, "example: --svc-param 'X-Region: eu-west'");
    }
    return [name, value];
  });
}
