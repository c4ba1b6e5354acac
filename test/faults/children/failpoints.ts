import { openSync, writeSync } from 'node:fs';
import { Server, ServerResponse } from 'node:http';
import type { SQLInputValue, StatementResultingChanges } from 'node:sqlite';
import { StatementSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the real program by `--import`, so that the program itself has no failpoints. It writes the progress of the current
 * transaction to a file (PARLEY_TEST_MARKS), and kills the process when it reaches a named point the nth time
 * (PARLEY_TEST_FAIL_AT=point:nth).
 */
const { PARLEY_TEST_MARKS: marks, PARLEY_TEST_FAIL_AT: failAt } = process.env;
const [failPoint, nth = '1'] = failAt?.split(':') ?? [];
const file = marks === undefined || !isMainThread ? undefined : openSync(marks, 'w');
/** Transactions during the start do not count. */
let isArmed = false;
let reached = 0;

function at(point: string): void {
  if (!isArmed || point !== failPoint) return;
  reached += 1;
  if (reached === Number(nth)) process.kill(process.pid, 'SIGKILL');
}

if (isMainThread) {
  const run: (...values: SQLInputValue[]) => StatementResultingChanges = StatementSync.prototype.run;
  StatementSync.prototype.run = function (this: StatementSync, ...values: readonly unknown[]) {
    const { sourceSQL: sql } = this;
    const isEvent = sql.startsWith('INSERT INTO log');
    if (sql.startsWith('BEGIN')) at('begin');
    if (sql === 'COMMIT') at('commit');
    const result = run.apply(this, values as SQLInputValue[]);
    if (isEvent) at('inserted');
    if (file !== undefined && isEvent) writeSync(file, 'e');
    if (file !== undefined && sql === 'COMMIT') writeSync(file, 'c');
    if (sql === 'COMMIT') at('committed');
    return result;
  };
  const emit = Server.prototype.emit as (...values: readonly unknown[]) => boolean;
  Server.prototype.emit = function (this: Server, ...values: readonly unknown[]): boolean {
    isArmed ||= values[0] === 'request';
    return emit.apply(this, [...values]);
  };
  for (const name of ['write', 'end'] as const) {
    const original = ServerResponse.prototype[name] as (...values: readonly unknown[]) => unknown;
    const wrapped = function (this: ServerResponse, ...values: readonly unknown[]): unknown {
      at('answer');
      const result = original.apply(this, [...values]);
      at('answered');
      return result;
    };
    Object.assign(ServerResponse.prototype, { [name]: wrapped });
  }
}
