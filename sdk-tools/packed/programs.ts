import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';

/** Copies the program of a language into the project that uses the packed SDK. */
export const copyProgram = (language: string, name: string, project: string): Promise<void> =>
  copyFile(join(projectRoot, 'test', 'sdk', 'packed', language, name), join(project, name));
