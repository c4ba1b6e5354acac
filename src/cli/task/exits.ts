export const EXITS =
  '0 carried out, whatever the state of the task; 1 failed; 2 wrong call; 3 not found or not reached; 4 credentials; 5 out of time.';
