import { A2AError } from '../errors.ts';

/**
 * A reader does not know the name of the value it reads, so most problems begin with a verb ("must be a
 * string"). The path is put in front of those.
 */
const WITHOUT_SUBJECT = /^(?:must|is|has|holds) /;

/** The error that the sender of a bad value gets: `message.parts[0].text must be a string`. */
export function invalidParams(fault: { readonly path: string; readonly problem: string }): A2AError {
  const { path, problem } = fault;
  if (path === '') return new A2AError('INVALID_PARAMS', WITHOUT_SUBJECT.test(problem) ? `params ${problem}` : problem);
  return new A2AError('INVALID_PARAMS', WITHOUT_SUBJECT.test(problem) ? `${path} ${problem}` : problem, { field: path });
}
