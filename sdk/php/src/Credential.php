<?php

declare(strict_types=1);

namespace Crossdock;

use InvalidArgumentException;

/**
 * @internal
 */
final class Credential
{
    /**
     * Returns a credential. getenv() returns false if there is no such variable.
     */
    public static function required(string $name, #[\SensitiveParameter] string|false|null $value): string
    {
        if ($value === null || $value === false || $value === '') {
            $message = "The $name is empty. Check the environment variable or setting that it comes from.";
            throw new InvalidArgumentException($message);
        }

        return $value;
    }
}
