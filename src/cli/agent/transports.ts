import type { ProtocolBinding } from '#bindings';
import { CLIENT_BINDINGS, findBinding } from '#bindings';
import { CliError, usage } from '../command.ts';

const NAMES: readonly string[] = CLIENT_BINDINGS.flatMap(({ protocolBinding, otherNames }) => [protocolBinding, ...otherNames]).map(
  (name) => name.toLowerCase(),
);

/** Reads `--transport`. A binding that parley does not support may be preferred: the next preference is used then. */
export function readTransports(given: readonly string[]): readonly (ProtocolBinding | 'GRPC')[] {
  return given.map((name) => {
    const binding = findBinding(name)?.protocolBinding ?? (name.toLowerCase() === 'grpc' ? 'GRPC' : undefined);
    if (binding !== undefined) return binding;
    throw new CliError(`--transport: there is no binding ${name}`, {
      meant: { word: name.toLowerCase(), known: [...NAMES, 'grpc'] },
      hint: 'use JSONRPC or HTTP+JSON (or rest)',
      exit: 2,
    });
  });
}

/** Says that a preference for gRPC has no effect, instead of ignoring it. */
export function grpcWarning(given: readonly string[]): string {
  const isWanted = readTransports(given).includes('GRPC');
  return isWanted ? 'warning: --transport grpc is not supported yet; the next preference, or the card’s order, is used\n' : '';
}

/** Reads `--a2a-version`. */
export function readVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^\d+\.\d+(\.\d+)?$/.test(version)) return version;
  throw usage(`--a2a-version: ${version} is not a version`, 'example: --a2a-version 1.0');
}
