import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The generated packages whose hundreds of modules a program would otherwise import all at once. */
const PACKAGES = ['models', 'api'];

/**
 * Lets the packages of records and operations import each module when its name is first used (PEP 562). A type checker still sees
 * ordinary imports. The generator has no option for it.
 */
export async function importLazily(core: string): Promise<void> {
  for (const name of PACKAGES) {
    const file = join(core, name, '__init__.py');
    await writeFile(file, lazyPackage(await readFile(file, 'utf8')));
  }
}

const IMPORT = /^from \.([\w.]+) import (\w+)(?: as \2)?$/gm;

function lazyPackage(text: string): string {
  const imports = [...text.matchAll(IMPORT)].map(([, module = '', name = '']) => ({ module, name }));
  const [docstring = ''] = /^""".*"""$/m.exec(text) ?? [];
  return [
    docstring,
    '',
    'from typing import TYPE_CHECKING, Any',
    '',
    'if TYPE_CHECKING:',
    ...imports.map(({ module, name }) => `    from .${module} import ${name} as ${name}`),
    'else:',
    '    _MODULES = {',
    ...imports.map(({ module, name }) => `        "${name}": ".${module}",`),
    '    }',
    '    __all__ = list(_MODULES)',
    '',
    '    def __getattr__(name: str) -> Any:',
    '        if name not in _MODULES:',
    '            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
    '        from importlib import import_module',
    '',
    '        value = getattr(import_module(_MODULES[name], __name__), name)',
    '        globals()[name] = value',
    '        return value',
    '',
    '    def __dir__() -> list[str]:',
    '        return sorted(__all__)',
    '',
  ].join('\n');
}
