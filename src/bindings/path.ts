const SLASH = '/';

/** By hand, because `/\/+$/` is quadratic on a run of slashes that something follows. */
export function withoutSlashesAtEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === SLASH) end -= 1;
  return text.slice(0, end);
}

/** A path below the mount, without a slash at its end. */
export function pathBelow(path: string, base: string): string {
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return withoutSlashesAtEnd(below) || SLASH;
}
