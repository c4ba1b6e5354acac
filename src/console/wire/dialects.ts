import type { Dialect } from '#protocol';
import { DIALECTS } from '#protocol';

/** The eight dialects, without their variants, whose ids have a dot. */
export const MAIN: readonly Dialect[] = DIALECTS.filter(({ id }) => !id.includes('.'));
