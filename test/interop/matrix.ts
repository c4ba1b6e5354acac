import type { ProtocolBinding } from '#bindings';
import type { SdkVersion } from '../support/sdk-server.ts';

/** The tests against the official SDK. The test suites and docs/interop.md are generated from these rows. */
export interface Face {
  readonly sdk: SdkVersion;
  readonly version: string;
  readonly binding: ProtocolBinding;
  readonly dialect: string;
  readonly proven: readonly Proof[];
  /** What is not tested, and why. */
  readonly except?: string;
}

export type Proof = 'send' | 'stream' | 'message' | 'question' | 'get' | 'cancel' | 'subscribe' | 'list' | 'push' | 'extended card';

const COMMON: readonly Proof[] = ['send', 'stream', 'message', 'question', 'get', 'cancel', 'subscribe'];
const V03: readonly Proof[] = [...COMMON, 'push', 'extended card'];
const V10: readonly Proof[] = [...COMMON, 'list', 'push', 'extended card'];
const NO_LIST = 'list: not in that version';
const V02 = 'list, extended card: not in that version; push: its server has none';

export const OUR_CLIENT: readonly Face[] = [
  { sdk: '1.3.0', version: '1.0', binding: 'JSONRPC', dialect: 'v10', proven: V10 },
  { sdk: '1.3.0', version: '1.0', binding: 'HTTP+JSON', dialect: 'v10', proven: V10 },
  { sdk: '1.3.0', version: '0.3', binding: 'JSONRPC', dialect: 'v03', proven: V03, except: NO_LIST },
  {
    ...{ sdk: '1.3.0', version: '0.3', binding: 'HTTP+JSON', dialect: 'v03.rest' },
    proven: V03.filter((proof) => proof !== 'push'),
    except: `${NO_LIST}; push: this layer takes only a body that the servers of 0.3 themselves refuse`,
  },
  { sdk: '0.3.13', version: '0.3', binding: 'JSONRPC', dialect: 'v03', proven: V03, except: NO_LIST },
  { sdk: '0.3.13', version: '0.3', binding: 'HTTP+JSON', dialect: 'v03.rest', proven: V03, except: NO_LIST },
  { sdk: '0.2.5', version: '0.2', binding: 'JSONRPC', dialect: 'v02.5', proven: COMMON, except: V02 },
];

const CALLED: readonly Proof[] = ['send', 'stream', 'message', 'question', 'get', 'cancel', 'subscribe', 'push'];

/** The rows of 1.3.0 are sdk-serve.test.ts and, for push, test/bindings/sdk-client.test.ts; the older ones are older-clients.test.ts. */
export const THEIR_CLIENT: readonly Face[] = [
  { sdk: '1.3.0', version: '1.0', binding: 'JSONRPC', dialect: 'v10', proven: CALLED },
  { sdk: '1.3.0', version: '1.0', binding: 'HTTP+JSON', dialect: 'v10', proven: CALLED },
  { sdk: '1.3.0', version: '0.3', binding: 'JSONRPC', dialect: 'v03', proven: CALLED },
  { sdk: '1.3.0', version: '0.3', binding: 'HTTP+JSON', dialect: 'v03.rest', proven: CALLED },
  { sdk: '0.3.13', version: '0.3', binding: 'JSONRPC', dialect: 'v03', proven: CALLED },
  { sdk: '0.3.13', version: '0.3', binding: 'HTTP+JSON', dialect: 'v03.rest', proven: CALLED },
  { sdk: '0.2.5', version: '0.2', binding: 'JSONRPC', dialect: 'v02.5', proven: CALLED },
];
