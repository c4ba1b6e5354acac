import { bindingWords, CLIENT_BINDINGS, findBinding } from '#bindings';
import type { StandardBinding } from '#protocol';
import { STANDARD_BINDINGS } from '#protocol';
import { CliError, usage } from '../command.ts';

const OTHER_NAMES = CLIENT_BINDINGS.flatMap(({ otherNames }) => otherNames);
const NAMES: readonly string[] = [...STANDARD_BINDINGS, ...OTHER_NAMES].map((name) => name.toLowerCase());

/** Reads `--transport`. A binding that parley does not support may be preferred: the next preference is used then. */
export function readTransports(given: readonly string[]): readonly StandardBinding[] {
  return given.map((name) => {
    const binding = findBinding(name)?.protocolBinding ?? STANDARD_BINDINGS.find((each) => each === name.toUpperCase());
    if (binding !== undefined) return binding;
    throw new CliError(`--transport: there is no binding ${name}`, {
      meant: { word: name.toLowerCase(), known: NAMES },
      hint: `use ${bindingWords()}`,
      exit: 2,
    });
  });
}

/** Warns about a preferred binding that parley does not support, instead of ignoring it. Empty if there is none. */
export function transportWarning(given: readonly string[]): string {
  const missing = readTransports(given).find((binding) => findBinding(binding) === undefined);
  if (missing === undefined) return '';
  return `warning: --transport ${missing.toLowerCase()} is not supported yet; the next preference, or the card’s order, is used\n`;
}

/** Says that none of the preferred bindings is on the card, and which one is used instead. Empty if one of them is used. */
export function fallbackWarning(given: readonly string[], used: string): string {
  const wanted = readTransports(given);
  if (wanted.length === 0 || wanted.some((binding) => binding === used)) return '';
  return `warning: the card has no interface for --transport ${wanted.join(', ').toLowerCase()}; ${used} is used\n`;
}

/** Reads `--a2a-version`. */
export function readVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^\d+\.\d+(\.\d+)?$/.test(version)) return version;
  throw usage(`--a2a-version: ${version} is not a version`, 'example: --a2a-version 1.0');
}
