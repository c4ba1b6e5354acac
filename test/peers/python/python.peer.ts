import { driverTalk } from '../driver.ts';
import { pythonWith } from '../install.ts';
import { describeClient } from '../suite.ts';

const HERE = new URL('.', import.meta.url).pathname;

interface Release {
  readonly version: string;
  readonly client: string;
  readonly bindings: readonly string[];
  readonly hasList: boolean;
}

const RELEASES: readonly Release[] = [
  { version: '1.3.0', client: 'client_v10.py', bindings: ['JSONRPC', 'HTTP+JSON'], hasList: true },
  { version: '0.3.26', client: 'client_v03.py', bindings: ['JSONRPC', 'HTTP+JSON'], hasList: false },
  { version: '0.3.22', client: 'client_v03.py', bindings: ['JSONRPC', 'HTTP+JSON'], hasList: false },
  { version: '0.2.16', client: 'client_v02.py', bindings: ['JSONRPC'], hasList: false },
];

for (const { version, client, bindings, hasList } of RELEASES) {
  const python = pythonWith(`a2a-sdk-${version}`, [`a2a-sdk[http-server]==${version}`, 'uvicorn']);
  for (const binding of bindings) {
    const command = (url: string) => [python ?? '', `${HERE}${client}`, url, ...(bindings.length > 1 ? [binding] : [])];
    const talk = python === undefined ? undefined : (url: string) => driverTalk(command(url), { hasList });
    describeClient({ title: `Python a2a-sdk ${version}, ${binding}`, talk });
  }
}
