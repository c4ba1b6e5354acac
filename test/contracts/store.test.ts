import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { storeContract } from './store.ts';

storeContract({
  name: 'memory',
  open: memoryStore,
  skip: [{ test: 'keeps everything when it is closed and opened again', reason: 'it ends with its process' }],
});
