import { withoutEndSlashes } from '#protocol';

/** A path below the mount, without a slash at its end. */
export function pathBelow(path: string, base: string): string {
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return withoutEndSlashes(below) || '/';
}
