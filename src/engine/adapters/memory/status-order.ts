import type { ListPosition, TaskRow } from '../../ports.ts';

/**
 * A row's position in all orders that contain it. A row that moves gets a new mark, and `row` of the
 * old one becomes undefined (dead).
 */
export interface Mark extends ListPosition {
  row: TaskRow | undefined;
}

/**
 * Rows by the time of their last status. Almost every change has the newest time, so it is appended.
 * The old mark stays as a dead one until half of the marks are dead. So the cost of a change does not
 * depend on the number of rows.
 */
export class Order {
  #marks: Mark[] = [];
  #dead = 0;

  constructor(marks: readonly Mark[] = []) {
    for (const mark of marks) this.add(mark);
  }

  get size(): number {
    return this.#marks.length - this.#dead;
  }

  add(mark: Mark): void {
    const last = this.#marks.at(-1);
    if (last === undefined || isBefore(last, mark)) this.#marks.push(mark);
    else this.#marks.splice(this.#indexOf(mark), 0, mark); // the clock was set back
  }

  /** Must be called when one of its marks becomes dead. */
  bury(): void {
    this.#dead += 1;
    if (this.#dead < 32 || this.#dead * 2 < this.#marks.length) return;
    this.#marks = this.#marks.filter((mark) => mark.row !== undefined);
    this.#dead = 0;
  }

  /** Newest first, after a position. */
  *newest(after?: ListPosition): Generator<TaskRow> {
    for (let at = (after === undefined ? this.#marks.length : this.#indexOf(after)) - 1; at >= 0; at -= 1) {
      const row = this.#marks[at]?.row;
      if (row !== undefined) yield row;
    }
  }

  *oldest(): Generator<TaskRow> {
    for (const { row } of this.#marks) if (row !== undefined) yield row;
  }

  /** The index of the first mark that is not before the position. */
  #indexOf(place: ListPosition): number {
    let low = 0;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const mark = this.#marks[middle];
      if (mark !== undefined && isBefore(mark, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(left: ListPosition, right: ListPosition): boolean {
  return left.statusAt < right.statusAt || (left.statusAt === right.statusAt && left.key < right.key);
}
