<?php

/**
 * Loads the classes of this library. You need this file only if you do not use Composer.
 */

declare(strict_types=1);

if (!is_dir(__DIR__ . '/generated')) {
    throw new RuntimeException('The library is not built. Run `npm run sdk -- php` in the root of the project.');
}

spl_autoload_register(static function (string $class): void {
    if (!str_starts_with($class, 'Crossdock\\')) {
        return;
    }
    $path = strtr(substr($class, strlen('Crossdock\\')), '\\', '/') . '.php';
    foreach (['/src/', '/generated/'] as $folder) {
        if (is_file(__DIR__ . $folder . $path)) {
            require __DIR__ . $folder . $path;
        }
    }
});
