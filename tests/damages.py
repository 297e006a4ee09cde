"""Ways in which a file is damaged, for tests that every step survives them."""

from collections.abc import Callable

Damage = Callable[[bytes], bytes]

DAMAGES: dict[str, Damage] = {
    "empty": lambda _: b"",
    "other content": lambda _: b"this is no Parquet file, not at all" * 50,
    "cut in the middle": lambda whole: whole[: len(whole) // 2],
    "without its end": lambda whole: whole[:-4],
    "a damaged start": lambda whole: b"\xff" * 40 + whole[40:],
    "damaged data": lambda whole: whole[:8] + bytes(255 - byte for byte in whole[8:60]) + whole[60:],
    "a damaged footer": lambda whole: (
        whole[:-200] + bytes(255 - byte for byte in whole[-200:-8]) + whole[-8:]
    ),
    "zeros": lambda whole: bytes(len(whole)),
}
