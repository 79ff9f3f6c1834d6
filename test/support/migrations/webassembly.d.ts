// The part of the global that schema-engine.ts uses; lib.dom would bring a browser's globals with it.
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, unknown>>;
  type Instance = { exports: Record<string, unknown> };
  function instantiate(bytes: Uint8Array, imports: Imports): Promise<{ instance: Instance }>;
}
