import type { AdminReplica } from '#protocol';

/** A node in words: its address, or its number. */
export function nodeName({ id, url }: Pick<AdminReplica, 'id' | 'url'>): string {
  return url === '' ? `node ${id}` : (URL.parse(url)?.host ?? url);
}

/** What happened between two readings: nodes that came and went, and cells that changed hands. */
export function changesBetween(before: readonly AdminReplica[], now: readonly AdminReplica[]): readonly string[] {
  const found: string[] = [];
  for (const node of now) if (!before.some(({ id }) => id === node.id)) found.push(`${nodeName(node)} has joined`);
  for (const node of before) if (!now.some(({ id }) => id === node.id)) found.push(`${nodeName(node)} is gone`);
  return [...found, ...now.flatMap((node) => movedTo(node, before))];
}

/** The cells that a node has got, by who owned them before. */
function movedTo(node: AdminReplica, before: readonly AdminReplica[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const cell of node.owned) {
    const old = before.find(({ owned }) => owned.includes(cell));
    if (old?.id === node.id) continue;
    const source = old === undefined ? '' : nodeName(old);
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return [...counts].map(([source, count]) => {
    const taken = `${nodeName(node)} took ${count === 1 ? '1 cell' : `${count} cells`}`;
    return source === '' ? `${taken} that nobody owned` : `${taken} over from ${source}`;
  });
}
