import type { Command, Toolchain } from '../language.js';

/** A code generator that integrators use. It is one module in this folder and one entry in generators.ts. */
export type Generator = {
  /** The name on the command line, and of the folder of its scenario program in test/sdk/generators/. */
  name: string;
  /** At most 14 letters. */
  title: string;
  version: string;
  /** The command that /docs/code-generators tells integrators to run. The contract is openapi.json. */
  command: string;
  toolchain(): Promise<Toolchain>;
  /** Generates from openapi.json in a folder that contains the scenario program. @throws Error with the tool's output */
  generate(folder: string): Promise<void>;
  /** Compiles the generated code and the scenario program, or checks their types. @throws Error with the tool's output */
  compile(folder: string): Promise<void>;
  scenario(folder: string): Command;
};
