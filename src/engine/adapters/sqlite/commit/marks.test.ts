import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratchFolder } from '../../../../../test/support/scratch.ts';
import type { Write } from '../../../ports.ts';
import { openMarks, readMarks, startMarks } from './marks.ts';
import { touchedBy } from './touched-tasks.ts';

const folder = scratchFolder();
const path = join(folder, 'x.marks');

describe('the marks file', () => {
  beforeEach(() => startMarks(path, 'store-1', 41));

  it('records the tasks of each commit', () => {
    const batch = [
      { kind: 'task', row: { key: 3, id: 'a b=c%\ud800' }, isNew: true, entries: [] },
      { kind: 'task', row: { key: 2, id: 'known' }, isNew: false, entries: [] },
      { kind: 'unpush', task: 5, id: 'p' },
      { kind: 'forgetSends', before: 1 },
    ] as unknown as Write[];
    const marks = openMarks(path);
    marks.note(42, touchedBy(batch));
    marks.note(43, touchedBy([]));
    marks.close();
    expect(readMarks(path)).toEqual({
      store: 'store-1',
      base: 41,
      commits: [
        { commit: 42, tasks: [{ key: 3, id: '\uffff"a b=c%\\ud800"' }, { key: 2 }, { key: 5 }], hasOther: true },
        { commit: 43, tasks: [], hasOther: false },
      ],
    });
  });

  it('continues after an incomplete line, and skips invalid ones', () => {
    let marks = openMarks(path);
    marks.note(42, '1 ');
    marks.note(43, '2 ');
    marks.close();
    truncateSync(path, readFileSync(path).length - 3);
    marks = openMarks(path);
    marks.note(44, '3 ');
    marks.close();
    appendFileSync(path, '\n\0\0\0\0\n45 9 deadbeef');
    expect(readMarks(path)?.commits.map(({ commit }) => commit)).toEqual([42, 44]);
  });

  it('restarts, and the open handle follows', () => {
    const marks = openMarks(path);
    marks.note(42, '1 ');
    startMarks(path, 'store-1', 42);
    marks.reopen();
    marks.note(43, '2 ');
    marks.close();
    expect(readMarks(path)).toEqual({ store: 'store-1', base: 42, commits: [{ commit: 43, tasks: [{ key: 2 }], hasOther: false }] });
  });

  it('is ignored without a valid first line', () => {
    expect(readMarks(join(folder, 'nowhere'))).toBeUndefined();
    for (const text of ['', 'x', '\nparley-marks-1 store-1 41 00000000']) {
      writeFileSync(path, text);
      expect(readMarks(path)).toBeUndefined();
    }
  });
});
