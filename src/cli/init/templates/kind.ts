/** One kind of project that `parley init` makes. */
export interface Template {
  /** What the agent is made of, after "the agent is". */
  readonly doc: string;
  /** A message to try. */
  readonly say: string;
  /** A paragraph of the project's README. */
  readonly readme?: string;
  /** Packages beside this one. */
  readonly dependencies?: readonly string[];
  /** The agent, its test, and what they need. */
  files(name: string): Readonly<Record<string, string>>;
}
