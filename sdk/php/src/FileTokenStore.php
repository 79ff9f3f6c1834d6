<?php

declare(strict_types=1);

namespace Crossdock;

use RuntimeException;

/**
 * Keeps the token in a file that only the owner of the process can read. Use one file per user, outside the web root.
 */
final class FileTokenStore implements TokenStore
{
    public function __construct(private readonly string $path)
    {
    }

    public function load(): ?string
    {
        $token = is_file($this->path) ? trim((string) file_get_contents($this->path)) : '';

        return $token === '' ? null : $token;
    }

    public function save(#[\SensitiveParameter] string $token): void
    {
        $new = tempnam(dirname($this->path), 'token'); // mode 0600
        if ($new === false || file_put_contents($new, $token) === false || !rename($new, $this->path)) {
            throw new RuntimeException("The access token cannot be written to $this->path.");
        }
    }
}
