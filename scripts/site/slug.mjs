/** Names the headings of one page as GitHub does, so that links work in both places. */
export function slugs() {
  const used = new Map();
  return (heading) => {
    const words = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = used.get(words) ?? 0;
    used.set(words, count + 1);
    return count === 0 ? words : `${words}-${count}`;
  };
}
