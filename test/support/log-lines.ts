/** The lines of a node's standard error that are no log lines of the levels `info` and `warn`. */
export function problemsIn(text: string): readonly string[] {
  return text.match(/^(?!.*"level":"(?:info|warn)").+$/gm) ?? [];
}
