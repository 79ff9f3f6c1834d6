/** One language of `sdk/`. A language is one module in this folder and one entry in languages.ts. */
export type Language = {
  /** The name on the command line, for example `npm run sdk -- php`. */
  name: string;
  /** Other names on the command line. */
  aliases?: string[];
  title: string;
  /** Checks whether this machine has the tools that build() and the scenario need. */
  toolchain(): Promise<Toolchain>;
  /** Builds the SDK and its scenario program. @throws Error with the output of the tool that failed */
  build(): Promise<void>;
  /** The program that runs the twelve steps, after build(). */
  scenario: Command;
  /**
   * Packs the SDK as it is published, after build(), and installs it from the packed file into an empty project. Returns the program of
   * test/sdk/packed there, which does the steps of packed/steps.ts, or the reason for a skip.
   */
  install(project: string): Promise<Command | { missing: string }>;
};

/** The version of the tools, or the reason for a skip. */
export type Toolchain = { found: string } | { missing: string };

export type Command = { program: string; args: string[]; folder: string };
