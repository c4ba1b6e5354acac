/** How to run any program as an agent. */
export interface CommandOptions {
  /**
   * The program and its arguments. In an argument, `{prompt}` is replaced by the message's text, and
   * `{cwd}` and `{contextId}` by their values.
   */
  readonly argv: readonly string[];
  /**
   * How the program gets the message. `argument`: in place of `{prompt}`, or else as the last argument.
   * `stdin`: on standard input, which is then closed. Default: `argument` if an argument has
   * `{prompt}`, else `stdin`.
   */
  readonly prompt?: 'stdin' | 'argument';
  /**
   * The format of its output. `text`: the answer. `ndjson`: one object per line. `auto`, the default:
   * by the first character.
   */
  readonly output?: 'text' | 'ndjson' | 'auto';
  /**
   * The path of the answer in an object of `ndjson`, as `message.content[0].text`. Default: known
   * forms.
   */
  readonly answerPath?: string;
  /**
   * Finds a question in the output. Standard input then stays open, and the answer is written to it.
   */
  readonly approvePattern?: RegExp;
  /** What to write to the program for a yes and for a no. Default: `y` and `n`. */
  readonly approveWords?: { readonly yes: string; readonly no: string };
  /** Names of environment variables that the program gets, besides those that every program gets. */
  readonly environment?: readonly string[];
  /** Name on the card. Default: the name of the program. */
  readonly name?: string;
  /** Option that names a new conversation, for programs that keep conversations. */
  readonly sessionFlag?: string;
  /** Option that continues a conversation. */
  readonly resumeFlag?: string;
}
