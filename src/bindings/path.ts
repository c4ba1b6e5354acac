import { withoutEndSlashes } from '#protocol';

/** Removes `base` from the start of a path, and slashes from its end. */
export function pathBelow(path: string, base: string): string {
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return withoutEndSlashes(below) || '/';
}
