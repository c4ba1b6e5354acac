import type { ListPosition, TaskRow } from '../../ports.ts';

/** A row's place in every order that it is in. When the row moves it gets a new mark, and this one is dead. */
export interface Mark extends ListPosition {
  row: TaskRow | undefined;
}

/**
 * Rows by time of their last status. Almost every change is to the newest time, so it is put at the end, and what it replaces stays
 * behind as a dead mark until there are more dead than living: a change costs the same among a million as among ten.
 */
export class Order {
  #marks: Mark[] = [];
  #dead = 0;

  get size(): number {
    return this.#marks.length - this.#dead;
  }

  add(mark: Mark): void {
    const last = this.#marks.at(-1);
    // A literal, because most orders are of a context with one task, and an array that has grown keeps room for more.
    if (last === undefined) this.#marks = [mark];
    else if (isBefore(last, mark)) this.#marks.push(mark);
    else this.#marks.splice(this.#indexOf(mark), 0, mark); // the clock was set back
  }

  /** One of its marks has died. */
  bury(): void {
    this.#dead += 1;
    if (this.#dead < 32 || this.#dead * 2 < this.#marks.length) return;
    this.#marks = this.#marks.filter((mark) => mark.row !== undefined);
    this.#dead = 0;
  }

  /** Newest first, strictly after a place. */
  *newest(after?: ListPosition): Generator<TaskRow> {
    for (let at = (after === undefined ? this.#marks.length : this.#indexOf(after)) - 1; at >= 0; at -= 1) {
      const row = this.#marks[at]?.row;
      if (row !== undefined) yield row;
    }
  }

  *oldest(): Generator<TaskRow> {
    for (const { row } of this.#marks) if (row !== undefined) yield row;
  }

  /** Of the first mark that is not before the place. */
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
