/** Whether the npm registry has this package. scripts/release.mjs sets it for a release. */
export const IS_PUBLISHED: boolean = false;
