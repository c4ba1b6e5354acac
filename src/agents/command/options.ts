/** Any program as an agent. */
export interface CommandOptions {
  /** The program and its arguments. `{prompt}` in an argument stands for the message's text, `{cwd}` and `{contextId}` for those. */
  readonly argv: readonly string[];
  /**
   * How it gets the message. `argument`: where `{prompt}` stands, or else as the last argument. `stdin`: on standard input, which is
   * then closed. Default: `argument` if `{prompt}` stands somewhere, else `stdin`.
   */
  readonly prompt?: 'stdin' | 'argument';
  /** What it writes. `text`: the answer. `ndjson`: an object a line. `auto`, the default: by the first character. */
  readonly output?: 'text' | 'ndjson' | 'auto';
  /** Where in an object of `ndjson` the answer is, as `message.content[0].text`. Without it known forms are looked for. */
  readonly answerPath?: string;
  /** Finds a question in what it writes. Its standard input then stays open, and the answer is written to it. */
  readonly approvePattern?: RegExp;
  /** What is written for a yes and for a no. */
  readonly approveWords?: { readonly yes: string; readonly no: string };
  /** Names of environment variables that it gets, besides those that every program does. */
  readonly environment?: readonly string[];
  readonly name?: string;
  /** Options that name a conversation: the first is used when it begins, the second whenever it goes on. */
  readonly sessionFlag?: string;
  readonly resumeFlag?: string;
}
