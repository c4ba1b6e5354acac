import { A2AError } from '../errors.ts';

/** Readers say what is wrong of a value whose name they need not know; a whole sentence needs the name. */
const WITHOUT_SUBJECT = /^(?:must|is|has|holds) /;

/** What a reader refused, as the error that its sender sees: `message.parts[0].text must be a string`. */
export function invalidParams(fault: { readonly path: string; readonly problem: string }): A2AError {
  const { path, problem } = fault;
  if (path === '') return new A2AError('INVALID_PARAMS', WITHOUT_SUBJECT.test(problem) ? `params ${problem}` : problem);
  return new A2AError('INVALID_PARAMS', WITHOUT_SUBJECT.test(problem) ? `${path} ${problem}` : problem, { field: path });
}
