import type { Dialect, Registry } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

const everyDialect = createRegistry(DIALECTS);

/** One of this package's own dialects. */
export function dialectNamed(id: string): Dialect {
  const dialect = everyDialect.byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  return dialect;
}

/**
 * The dialects whose JSON is the ProtoJSON of a service: what gRPC calls and serves. The name of the
 * service tells the version, so `a2a-version` is not needed.
 */
const SERVICES: Readonly<Record<string, string>> = {
  v10: 'lf.a2a.v1.A2AService',
  'v03.rest': 'a2a.v1.A2AService',
};

/** The gRPC form of a dialect: itself, or the variant that is ProtoJSON. Undefined: it has none. */
export function grpcForm(dialect: Dialect, registry: Registry): Dialect | undefined {
  const form = registry.restForm(dialect);
  return form !== undefined && form.id in SERVICES ? form : undefined;
}
