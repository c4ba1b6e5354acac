import type { Dialect } from '#protocol';
import type { ProtoCodec } from './codec.ts';
import { protoCodec } from './codec.ts';
import { FORM_V03 } from './codec-v03.ts';
import { FORM_V10 } from './codec-v10.ts';

export { errorOfStatus } from './status.ts';

/** The codec of a dialect that `grpcForm` returned. The dialect may be a caller's variant, for example one that keeps raw answers. */
export function codecOf(dialect: Dialect): ProtoCodec | undefined {
  const form = [FORM_V10, FORM_V03].find((each) => each.dialect.id === dialect.id);
  return form === undefined ? undefined : protoCodec({ ...form, dialect });
}
