import type { AdminListRequest, AdminTask } from './admin-task.ts';

/** What to search for, and where. The filters are those of the task list. Page size: default 20, maximum 100. */
export interface AdminSearchRequest extends AdminListRequest {
  /** Words, all of which must occur; `"a phrase"`; `start*` for words that start like that. */
  readonly text: string;
}

/** A piece of a task's text. */
export interface AdminSnippet {
  readonly text: string;
  /** Start and end of each place that was found, in characters of `text`. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

/** A task that was found, with the place where. */
export interface AdminFoundTask extends AdminTask {
  readonly snippet: AdminSnippet;
}

/** One page of a search, the newest task first. */
export interface AdminSearchPage {
  readonly tasks: readonly AdminFoundTask[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Full-text search over the tasks of a node. */
export interface AdminSearch {
  /** Finds tasks by the text of their messages and artifacts. New tasks are found some seconds later. */
  search(request: AdminSearchRequest): Promise<AdminSearchPage>;
}
