<?php

// Guzzle from Composer, or from the include path, where Linux distributions install it.
$composer = __DIR__ . '/client/vendor/autoload.php';
require is_file($composer) ? $composer : 'GuzzleHttp/autoload.php';

spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/client/lib/' . str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class) . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($file)) {
        require_once $file;
    }
});
