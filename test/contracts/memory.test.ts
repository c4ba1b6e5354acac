import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { storeContract } from './store.ts';

storeContract({ name: 'memory', open: memoryStore });
