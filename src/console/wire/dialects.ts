import type { Dialect } from '#protocol';
import { DIALECTS } from '#protocol';

/** The eight dialects; what is named with a dot is a spelling of one of them. */
export const MAIN: readonly Dialect[] = DIALECTS.filter(({ id }) => !id.includes('.'));
