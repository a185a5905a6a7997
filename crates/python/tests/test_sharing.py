"""Threshold keys: arrays and tables, and the command line's results for the same files."""

import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hearith as he


@pytest.fixture(scope="module")
def shared():
    return he.generate_shared_key(2, 3, 512, "djn", insecure=True)


def test_any_so_many_trustees_decrypt_an_array(shared):
    verification, trustees = shared
    assert (verification.needed, verification.trustees) == (2, 3)
    numbers = np.array([5, -7, 2**40])
    array = verification.public.encrypt(numbers)
    shares = [trustee.decrypt(array, context=b"test") for trustee in trustees]
    for some in ([0, 1], [2, 0], [1, 2], [0, 1, 2]):
        found = verification.combine(array, [shares[one] for one in some], context=b"test")
        np.testing.assert_array_equal(found, numbers)
    total = array.sum()
    assert verification.combine(total, [trustee.decrypt(total) for trustee in trustees[1:]]) == numbers.sum()
    money = verification.public.encrypt([Decimal("1.25"), Decimal("-3.5")], scale=2)
    found = verification.combine(money, [trustee.decrypt(money) for trustee in trustees])
    assert [str(number) for number in found] == ["1.25", "-3.50"]


def joint():
    """A key that three trustees generated together:
    `hearith keygen --bits 128 --distributed 2/3`.
    """
    folder = Path(__file__).parent / "joint_key"
    verification = he.VerificationKeys.load(folder / "verification.json", insecure=True)
    texts = [(folder / f"share-{number}.json").read_text() for number in (1, 2, 3)]
    return verification, [he.KeyShare.from_json(text, insecure=True) for text in texts]


def test_keys_without_a_dealer_have_longer_shares(shared):
    verification, trustees = joint()
    array = verification.public.encrypt([1500, -20])
    shares = [trustee.decrypt(array) for trustee in trustees]
    read = [he.Shares(verification, share.trustee, share.to_bytes()) for share in shares]
    assert verification.combine(array, read[1:]).tolist() == [1500, -20]
    verification.verify(array, read[0])
    assert he.VerificationKeys.from_json(verification.to_json(), insecure=True).to_json() == verification.to_json()
    # Shares of a dealer-generated key of the same size are shorter, and a public key does not tell
    # which kind it is.
    with pytest.raises(he.ShareError) as caught:
        he.Shares(verification.public, 1, shares[0].to_bytes())
    assert caught.value.kind == "width"
    dealt, holders = shared
    of_dealt = holders[0].decrypt(dealt.public.encrypt([1]))
    assert he.Shares(dealt, 1, of_dealt.to_bytes()).to_bytes() == of_dealt.to_bytes()
    table = pa.table({"salary": [1500, -20]})
    encrypted = verification.public.encrypt_columns(table, ["salary"])
    parts = [trustee.decrypt_columns(encrypted) for trustee in trustees[:2]]
    assert verification.combine_columns(encrypted, parts)["salary"].to_pylist() == [1500, -20]


def test_wrong_shares_are_named(shared):
    verification, trustees = shared
    array = verification.public.encrypt([1, 2, 3])
    shares = [trustee.decrypt(array) for trustee in trustees]
    data = bytearray(shares[1].to_bytes())
    data[len(data) // 3 * 2 + 5] ^= 1
    wrong = he.Shares(verification.public, 2, bytes(data))
    with pytest.raises(he.ShareError, match="row 2: trustee 2: the share is wrong") as caught:
        verification.verify(array, wrong)
    assert (caught.value.row, caught.value.kind) == (2, "does_not_hold")
    with pytest.warns(UserWarning, match="trustee 2, row 2: the share is wrong: ignored"):
        assert verification.combine(array, [shares[0], wrong, shares[2]]).tolist() == [1, 2, 3]
    for some, kind in [([shares[0], wrong], "does_not_hold"), ([shares[0]], "too_few"), ([shares[0]] * 2, "twice")]:
        with pytest.raises(he.ShareError) as caught:
            verification.combine(array, some)
        assert caught.value.kind == kind
    with pytest.raises(he.ShareError, match="the share is wrong"):
        verification.verify(array, shares[0], context=b"elsewhere")
    with pytest.raises(he.ShapeError):
        verification.verify(array[:2], shares[0])
    with pytest.raises(he.ShareError) as caught:
        he.Shares(verification.public, 2, bytes(data)[1:])
    assert caught.value.kind == "width"


def test_what_belongs_to_another_key_is_refused(shared, keys):
    verification, trustees = shared
    array = keys[0].encrypt([1])
    with pytest.raises(he.KeyMismatchError):
        trustees[0].decrypt(array)
    with pytest.raises(he.KeyMismatchError):
        verification.combine(array, [])


def test_tables_are_decrypted_by_trustees(shared, keys):
    verification, trustees = shared
    table = pa.table({"dept": ["a", "b", "a"], "salary": pa.array([1500, None, -20]), "bonus": [1, 2, 3]})
    encrypted = verification.public.encrypt_columns(table, ["salary", "bonus"])
    totals = verification.public.sum_columns(encrypted, by="dept")
    shares = [trustee.decrypt_columns(totals) for trustee in trustees]
    assert shares[0].column_names == ["salary.share", "bonus.share"]
    other = keys[0].sum_columns(keys[0].encrypt_columns(table, ["salary", "bonus"]), by="dept")
    expected = keys[1].decrypt_columns(other)
    assert verification.combine_columns(totals, shares[1:]).equals(expected)
    again = verification.public.sum_columns(encrypted, by="dept", rerandomise=True)
    wrong = trustees[0].decrypt_columns(again)
    with pytest.warns(UserWarning, match=r"column (salary|bonus): trustee 1: made for a table that differs"):
        assert verification.combine_columns(totals, [wrong, *shares[1:]]).equals(expected)
    with pytest.raises(he.ShareError) as caught:
        verification.combine_columns(totals, [wrong, shares[1]])
    assert (caught.value.row, caught.value.kind) == (None, "other_table")
    # The labels of the numbers must not change; their storage format may.
    exchanged = totals.set_column(0, totals.schema.field(0), totals["dept"].take([1, 0]))
    with pytest.raises(he.ShareError, match="trustee 3: made for a table that differs in a name") as caught:
        verification.combine_columns(exchanged, shares[1:])
    assert caught.value.kind == "other_table"
    stored = totals.set_column(0, "dept", totals["dept"].dictionary_encode())
    pieces = pa.concat_tables([stored.slice(0, 1), stored.slice(1)])
    assert verification.combine_columns(pieces, shares[1:])["salary"].equals(expected["salary"])
    with pytest.raises(he.ShareError, match="1 shares, but 2 are needed"):
        verification.combine_columns(totals, shares[:1])
    with pytest.raises(he.TableError) as caught:
        verification.combine_columns(totals, [totals, shares[0]])
    assert caught.value.kind == "not_shares"
    with pytest.raises(he.TableError, match="1 rows of shares for 2 rows"):
        verification.combine_columns(totals, [shares[0], shares[1].slice(0, 1)])


def test_files(shared, tmp_path):
    verification, trustees = shared
    (tmp_path / "verification.json").write_text(verification.to_json())
    read = he.VerificationKeys.load(tmp_path / "verification.json", insecure=True)
    assert read.to_json() == verification.to_json()
    assert he.PublicKey.load(tmp_path / "verification.json", insecure=True) == verification.public
    file = tmp_path / "share-1.json"
    file.write_text(trustees[0].to_json())
    with pytest.warns(UserWarning, match="other users can read"):
        share = he.KeyShare.load(file, insecure=True)
    assert (share.trustee, share.public) == (1, verification.public)
    sealed = share.to_json(passphrase="word")
    assert he.KeyShare.from_json(sealed, passphrase="word", insecure=True).to_json() == trustees[0].to_json()
    for text, passphrase in [(sealed, None), (sealed, "wrong"), (verification.to_json(), None), ("{}", None)]:
        with pytest.raises(he.InvalidKeyError):
            he.KeyShare.from_json(text, passphrase=passphrase, insecure=True)
    with pytest.raises(he.InvalidKeyError) as caught:
        he.VerificationKeys.from_json(verification.to_json())
    assert caught.value.kind == "insecure_key"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(share)
    with pytest.raises(he.InvalidKeyError) as caught:
        he.generate_shared_key(4, 3, 128, insecure=True)
    assert caught.value.kind == "bad_threshold"
