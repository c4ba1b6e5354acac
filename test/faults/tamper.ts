import { operate } from './replicas/audit.ts';

interface Picked {
  readonly key: string;
  readonly id: string;
}

/**
 * Changes the database that `parley store copy` has filled with `tasks` tasks, as if the copy had been killed before its end and somebody had
 * changed it. Returns what the copy has to find.
 */
export async function tamperWith(database: string, tasks: number): Promise<readonly string[]> {
  const sql = (text: string): Promise<readonly Picked[]> => operate<Picked>(database, text);
  const pick = async (where: string): Promise<Picked> => {
    const [picked] = await sql(`SELECT key, id FROM parley.tasks WHERE ${where} ORDER BY key LIMIT 1`);
    if (picked === undefined) throw new Error(`there is no task with ${where}`);
    return picked;
  };
  const middle = Math.floor(tasks / 2);
  const [log, row, gone] = [await pick(`key > ${middle}`), await pick(`key > ${middle + 10}`), await pick(`key > ${middle + 20}`)];
  const content = await pick('key IN (SELECT task FROM parley.blobs)');
  await sql(`UPDATE parley.secrets SET value = replace(value, 'done', 'running') WHERE name = 'copy'`);
  await sql(`UPDATE parley.segments SET words = replace(words, 'ROLE_USER', 'ROLE_AGENT') WHERE task = ${log.key}`);
  await sql(`UPDATE parley.tasks SET status_at = status_at + 1 WHERE key = ${row.key}`);
  await sql(`DELETE FROM parley.tasks WHERE key = ${gone.key}`);
  await sql(`UPDATE parley.blobs SET content = 'x' WHERE task = ${content.key}`);
  return [
    `task ${log.id}: entry 1 differs`,
    `task ${row.id}: its row differs`,
    `task ${gone.id}: it is not in the database`,
    `task ${content.id}: its large content`,
    `number of tasks: ${tasks - 1} in the database, ${tasks} in the source`,
    'Run the command again on an empty database',
  ];
}
