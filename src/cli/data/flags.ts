import type { Flag } from '../flags/spec.ts';

/** The flags of the commands that work on a data folder. */
export const DATA_FLAG: Flag = {
  name: 'data',
  kind: 'text',
  value: 'DIR',
  default: 'PARLEY_DATA, or the folder of this project',
  doc: 'The data folder of the node.',
};

export const AUTH_FOLDER_FLAG: Flag = {
  name: 'auth-folder',
  kind: 'text',
  value: 'DIR',
  default: 'PARLEY_AUTH_FOLDER, or that of the node that served the data last',
  doc: 'Where API keys are stored.',
};

/** For a folder that no node has served. */
export const NEW_AUTH_FOLDER_FLAG: Flag = {
  ...AUTH_FOLDER_FLAG,
  default: 'PARLEY_AUTH_FOLDER, or where the platform keeps configuration',
};

export const PRINCIPAL_FLAG: Flag = {
  name: 'principal',
  kind: 'text',
  value: 'P',
  doc: 'The caller, as parley audit and the console name it: key:NAME for an API key.',
};

export const TENANT_FLAG: Flag = { name: 'tenant', kind: 'text', value: 'T', doc: 'The tenant of the caller, if it has one.' };

export const JSON_FLAG: Flag = { name: 'json', kind: 'switch', doc: 'Print JSON.' };
