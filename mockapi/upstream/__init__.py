"""The wiki behind the proxy: a parser that works on so many pages at once, whoever still waits for them."""
