"""The engine: sessions of its own, whatever they run on."""


def test_the_engine_computes(engine):
    assert engine.session.range(10).count() == 10
