// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { addPackages } from './cargo/cargo.js';
export { createManifest, updateManifest } from './lifecycle/manifest.js';
