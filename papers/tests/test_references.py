from citations import cited_by_the_library

from heldout.references import REFERENCES
from heldout_papers import spaces


def test_every_source_is_known_and_every_reference_is_cited() -> None:
    public = [getattr(spaces, name) for name in spaces.__all__]
    cited = {key for one in public for key in getattr(one, "sources", ())}
    assert cited_by_the_library() | cited == set(REFERENCES)
